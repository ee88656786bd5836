"""A callback that breaks a fit, as Ctrl-C does."""


class Killed:
    """Breaks the fit after some step."""

    def __init__(self, after):
        self.after, self.steps = after, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.steps += context.max_subtasks == 0
        if self.steps == self.after:
            raise KeyboardInterrupt
