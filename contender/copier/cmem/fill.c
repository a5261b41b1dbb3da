/* Values for the fixtures. What is drawn, and in which order, is the same as in
 * fill.go of the package above, which works out what a copy must come to. */
#include "fill.h"

#include <stdlib.h>
#include <string.h>

#include "fixtures.h"

/* SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014. */
typedef struct {
	uint64_t state;
	int names;
	int items;
	int base; /* of ids */
} Draw;

static uint64_t next(Draw *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static int whole(Draw *d) { return (int)(next(d) % 1000000); }
static long long large(Draw *d) { return (long long)(next(d) >> 16); }
static double number(Draw *d) { return (double)(next(d) % 100000000) / 1024; }
static float part(Draw *d) { return (float)(next(d) % 65536) / 64; }

/* text writes a name of at most 64 bytes to s, without a NUL, and returns its
 * length. */
static int text(Draw *d, char *s)
{
	static const int edges[] = {0, 1, 62, 63, 64};
	int n, i;
	switch (d->names) {
	case NAMES_EDGES: n = edges[next(d) % 5]; break;
	case NAMES_BYTES: n = 60; break;
	default: n = 4 + (int)(next(d) % 21);
	}
	for (i = 0; i < n; i++)
		s[i] = d->names == NAMES_BYTES ? (char)(1 + next(d) % 255) : (char)('a' + next(d) % 26);
	return n;
}

static char *string(Draw *d)
{
	char s[64];
	int n = text(d, s);
	char *p = malloc((size_t)n + 1);
	if (p) {
		memcpy(p, s, (size_t)n);
		p[n] = 0;
	}
	return p;
}

static int person(Draw *d, void *p, int i)
{
	BenchPerson *v = p;
	v->id = d->base + i;
	text(d, v->name);
	v->balance = number(d);
	v->active = whole(d) & 1;
	return 1;
}

static void point(Draw *d, Point3D *v)
{
	v->x = number(d);
	v->y = number(d);
	v->z = number(d);
}

static int object(Draw *d, void *p, int i)
{
	GameObject *v = p;
	v->id = d->base + i;
	text(d, v->name);
	point(d, &v->position);
	point(d, &v->velocity);
	v->health = part(d);
	v->level = whole(d);
	return 1;
}

static int audio(Draw *d, void *p, int i)
{
	AudioBuffer *v = p;
	int k;
	(void)i;
	for (k = 0; k < 1024; k++)
		v->samples[k] = part(d);
	v->rate = whole(d);
	v->channels = whole(d);
	return 1;
}

static int devices(Draw *d, void *p, int i)
{
	DeviceList *v = p;
	int k;
	(void)i;
	v->owner = string(d);
	v->devices = calloc((size_t)d->items + 1, sizeof *v->devices);
	v->tags = calloc(8, sizeof *v->tags);
	if (!v->owner || !v->devices || !v->tags)
		return 0;
	v->count = d->items;
	for (k = 0; k < d->items; k++) {
		v->devices[k].id = d->base + k;
		if (!(v->devices[k].name = string(d)))
			return 0;
		v->devices[k].reading = number(d);
	}
	v->tag_count = 8;
	for (k = 0; k < 8; k++)
		v->tags[k] = whole(d);
	return 1;
}

/* Structs of one regular shape are filled as arrays of what repeats in them. */

static int flat(Draw *d, void *p, size_t size)
{
	double *v = p;
	size_t k;
	for (k = 0; k < size / sizeof *v; k++)
		v[k] = number(d);
	return 1;
}

static int nest(Draw *d, void *p, size_t size)
{
	Nest1 *v = p;
	size_t k;
	for (k = 0; k < size / sizeof *v; k++) {
		v[k].value = number(d);
		v[k].level = whole(d);
	}
	return 1;
}

static int fields(Draw *d, void *p, size_t size)
{
	Fields4 *v = p;
	size_t k;
	if (size == sizeof(Fields1)) {
		((Fields1 *)p)->a0 = whole(d);
		return 1;
	}
	for (k = 0; k < size / sizeof *v; k++) {
		v[k].a0 = whole(d);
		v[k].b0 = number(d);
		v[k].c0 = part(d);
		v[k].d0 = large(d);
	}
	return 1;
}

typedef struct {
	const char *name;
	size_t size;
	int (*one)(Draw *, void *, int);        /* fills the value of index i; 0: no memory */
	int (*regular)(Draw *, void *, size_t); /* or fills so many bytes */
} Fixture;

static const Fixture fixtures[] = {
	{"BenchPerson", sizeof(BenchPerson), person, NULL},
	{"GameObject", sizeof(GameObject), object, NULL},
	{"AudioBuffer", sizeof(AudioBuffer), audio, NULL},
	{"DeviceList", sizeof(DeviceList), devices, NULL},
	{"Flat2", sizeof(Flat2), NULL, flat},
	{"Flat16", sizeof(Flat16), NULL, flat},
	{"Flat128", sizeof(Flat128), NULL, flat},
	{"Flat1024", sizeof(Flat1024), NULL, flat},
	{"Flat8192", sizeof(Flat8192), NULL, flat},
	{"Nest1", sizeof(Nest1), NULL, nest},
	{"Nest2", sizeof(Nest2), NULL, nest},
	{"Nest3", sizeof(Nest3), NULL, nest},
	{"Nest4", sizeof(Nest4), NULL, nest},
	{"Nest5", sizeof(Nest5), NULL, nest},
	{"Nest6", sizeof(Nest6), NULL, nest},
	{"Nest7", sizeof(Nest7), NULL, nest},
	{"Nest8", sizeof(Nest8), NULL, nest},
	{"Nest9", sizeof(Nest9), NULL, nest},
	{"Deep1", sizeof(Deep1), NULL, flat},
	{"Deep2", sizeof(Deep2), NULL, flat},
	{"Deep3", sizeof(Deep3), NULL, flat},
	{"Deep6", sizeof(Deep6), NULL, flat},
	{"Deep9", sizeof(Deep9), NULL, flat},
	{"Fields1", sizeof(Fields1), NULL, fields},
	{"Fields4", sizeof(Fields4), NULL, fields},
	{"Fields16", sizeof(Fields16), NULL, fields},
	{"Fields64", sizeof(Fields64), NULL, fields},
};

static const Fixture *find(const char *type)
{
	size_t k;
	for (k = 0; k < sizeof fixtures / sizeof *fixtures; k++)
		if (strcmp(fixtures[k].name, type) == 0)
			return &fixtures[k];
	return NULL;
}

size_t fixture_size(const char *type)
{
	const Fixture *f = find(type);
	return f ? f->size : 0;
}

void *fixture_make(const char *type, int names, int count, int items, uint64_t seed)
{
	const Fixture *f = find(type);
	Draw d = {seed, names, items, 0};
	char *p;
	int i;
	if (!f || !(p = calloc((size_t)count, f->size)))
		return NULL;
	d.base = whole(&d);
	for (i = 0; i < count; i++) {
		void *v = p + (size_t)i * f->size;
		if (!(f->one ? f->one(&d, v, i) : f->regular(&d, v, f->size))) {
			fixture_free(type, p, count);
			return NULL;
		}
	}
	return p;
}

void fixture_free(const char *type, void *p, int count)
{
	int i, k;
	if (p && strcmp(type, "DeviceList") == 0)
		for (i = 0; i < count; i++) {
			DeviceList *v = (DeviceList *)p + i;
			for (k = 0; v->devices && k < v->count; k++)
				free(v->devices[k].name);
			free(v->devices);
			free(v->owner);
			free(v->tags);
		}
	free(p);
}

Place fixture_at(const Place *places, int i) { return places[i]; }
