"""What all pictures keep to, looked at when the figures of a test are closed."""

from matplotlib import pyplot

FRAMED = (  # over curves and points that fill their axes
    "test_a_chain_settles_from_its_start",
    "test_states_over_time_have_the_best_path_and_the_truth_below",
    "test_the_least_criterion_is_circled",
    "test_emissions_are_densities_times_shares",
    "test_tracks_have_ellipses_of_two_deviations",
    "test_losses_are_drawn_over_the_margin_or_the_residual",
    "test_margins_slacks_and_support_vectors",
)


def close_figures(test):
    """Close all figures; only the legends of some have a frame."""
    legends = [ax.get_legend() for number in pyplot.get_fignums() for ax in pyplot.figure(number).axes]
    framed = [legend.get_frame_on() for legend in legends if legend is not None]
    pyplot.close("all")
    assert test.originalname in FRAMED or not any(framed)
