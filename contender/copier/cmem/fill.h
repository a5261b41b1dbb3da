/* What cmem.go calls. */
#ifndef TARE_FILL_H
#define TARE_FILL_H

#include <stddef.h>
#include <stdint.h>

/* How names are drawn; as copier.Names. */
enum { NAMES_USUAL, NAMES_EDGES, NAMES_BYTES };

typedef struct {
	void *first; /* of n values in a row */
	int n;
} Place;

/* sizeof(type); 0: there is no such type. */
size_t fixture_size(const char *type);

/* count values of a type, lists in it with items elements each, all drawn from
 * seed. NULL: no such type, or no memory. */
void *fixture_make(const char *type, int names, int count, int items, uint64_t seed);

/* Frees what fixture_make made. */
void fixture_free(const char *type, void *p, int count);

/* Where values are: what a program asks C before it copies. */
Place fixture_at(const Place *places, int i);

#endif
