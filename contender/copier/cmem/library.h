/* Another producer than fill.c: a shared library with the same functions. */
#ifndef TARE_LIBRARY_H
#define TARE_LIBRARY_H

#include "fill.h"

typedef struct {
	void *(*make)(const char *type, int names, int count, int items, uint64_t seed);
	void (*free)(const char *type, void *p, int count);
	Place (*at)(const Place *places, int i);
} Library;

/* Opens the library at path, which stays open. Returns what is wrong, or NULL. */
const char *library_open(Library *l, const char *path);

void *library_make(const Library *l, const char *type, int names, int count, int items, uint64_t seed);
void library_free(const Library *l, const char *type, void *p, int count);
Place library_at(const Library *l, const Place *places, int i);

#endif
