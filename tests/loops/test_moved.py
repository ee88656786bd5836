"""A class that moves does not make the cache of compiled loops fail."""


def test_cache_that_names_a_class_that_moved_is_compiled_anew():
    from gnomon.loops import _compile

    class Cache:
        flushed = False

        def load_overload(self, signature, target):
            raise AttributeError("module 'before' has no attribute 'Pair'")

        def flush(self):
            self.flushed = True

    class Dispatcher:
        _cache = Cache()

    _compile._forget_what_moved(Dispatcher)
    assert Dispatcher._cache.load_overload("signature", "target") is None
    assert Dispatcher._cache.flushed
