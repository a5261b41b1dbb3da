#include "library.h"

#ifdef _WIN32

const char *library_open(Library *l, const char *path)
{
	(void)l, (void)path;
	return "libraries are not opened on this system";
}

#else

#include <dlfcn.h>

const char *library_open(Library *l, const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return dlerror();
	/* POSIX lets a function come out of a void pointer; ISO C does not. */
	*(void **)&l->make = dlsym(lib, "fixture_make");
	*(void **)&l->free = dlsym(lib, "fixture_free");
	*(void **)&l->at = dlsym(lib, "fixture_at");
	if (!l->make || !l->free || !l->at)
		return "it lacks fixture_make, fixture_free or fixture_at";
	return NULL;
}

#endif

void *library_make(const Library *l, const char *type, int names, int count, int items, uint64_t seed)
{
	return l->make(type, names, count, items, seed);
}

void library_free(const Library *l, const char *type, void *p, int count) { l->free(type, p, count); }

Place library_at(const Library *l, const Place *places, int i) { return l->at(places, i); }
