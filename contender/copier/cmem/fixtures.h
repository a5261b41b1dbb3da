/* The C types that copiers copy. Names are those of the published benchmark
 * where it has one. Sizes are those of 64-bit systems. */
#ifndef TARE_FIXTURES_H
#define TARE_FIXTURES_H

typedef struct { /* 88 bytes */
	int id;
	char name[64]; /* up to its NUL, or all of it */
	double balance;
	int active; /* a flag */
} BenchPerson;

typedef struct {
	double x, y, z;
} Point3D;

typedef struct { /* 128 bytes */
	int id;
	char name[64];
	Point3D position;
	Point3D velocity;
	float health;
	int level;
} GameObject;

typedef struct { /* 4,104 bytes */
	float samples[1024];
	int rate;
	int channels;
} AudioBuffer;

typedef struct {
	int id;
	char *name;
	double reading;
} Device;

typedef struct {
	char *owner;
	int count;
	Device *devices; /* count of them */
	int tag_count;
	int *tags; /* tag_count of them */
} DeviceList;

/* Nothing but numbers: 8 bytes each. */
typedef struct { double v[2]; } Flat2;
typedef struct { double v[16]; } Flat16;
typedef struct { double v[128]; } Flat128;
typedef struct { double v[1024]; } Flat1024;
typedef struct { double v[8192]; } Flat8192;

/* A struct in a struct in a struct: 16 bytes a level. */
typedef struct { double value; int level; } Nest1;
typedef struct { Nest1 inner; double value; int level; } Nest2;
typedef struct { Nest2 inner; double value; int level; } Nest3;
typedef struct { Nest3 inner; double value; int level; } Nest4;
typedef struct { Nest4 inner; double value; int level; } Nest5;
typedef struct { Nest5 inner; double value; int level; } Nest6;
typedef struct { Nest6 inner; double value; int level; } Nest7;
typedef struct { Nest7 inner; double value; int level; } Nest8;
typedef struct { Nest8 inner; double value; int level; } Nest9;

/* Eighteen numbers, 144 bytes, whatever the levels: a struct in a struct with as
   many numbers at each level. */
typedef struct { double v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17; } Deep1;
typedef struct { double v0, v1, v2, v3, v4, v5, v6, v7, v8; } Deep2In1;
typedef struct { Deep2In1 inner; double v0, v1, v2, v3, v4, v5, v6, v7, v8; } Deep2;
typedef struct { double v0, v1, v2, v3, v4, v5; } Deep3In1;
typedef struct { Deep3In1 inner; double v0, v1, v2, v3, v4, v5; } Deep3In2;
typedef struct { Deep3In2 inner; double v0, v1, v2, v3, v4, v5; } Deep3;
typedef struct { double v0, v1, v2; } Deep6In1;
typedef struct { Deep6In1 inner; double v0, v1, v2; } Deep6In2;
typedef struct { Deep6In2 inner; double v0, v1, v2; } Deep6In3;
typedef struct { Deep6In3 inner; double v0, v1, v2; } Deep6In4;
typedef struct { Deep6In4 inner; double v0, v1, v2; } Deep6In5;
typedef struct { Deep6In5 inner; double v0, v1, v2; } Deep6;
typedef struct { double v0, v1; } Deep9In1;
typedef struct { Deep9In1 inner; double v0, v1; } Deep9In2;
typedef struct { Deep9In2 inner; double v0, v1; } Deep9In3;
typedef struct { Deep9In3 inner; double v0, v1; } Deep9In4;
typedef struct { Deep9In4 inner; double v0, v1; } Deep9In5;
typedef struct { Deep9In5 inner; double v0, v1; } Deep9In6;
typedef struct { Deep9In6 inner; double v0, v1; } Deep9In7;
typedef struct { Deep9In7 inner; double v0, v1; } Deep9In8;
typedef struct { Deep9In8 inner; double v0, v1; } Deep9;

/* So many members of four types in turn: 32 bytes for four of them. */
typedef struct {
	int a0;
} Fields1;

typedef struct {
	int a0;
	double b0;
	float c0;
	long long d0;
} Fields4;

typedef struct {
	int a0;
	double b0;
	float c0;
	long long d0;
	int a1;
	double b1;
	float c1;
	long long d1;
	int a2;
	double b2;
	float c2;
	long long d2;
	int a3;
	double b3;
	float c3;
	long long d3;
} Fields16;

typedef struct {
	int a0;
	double b0;
	float c0;
	long long d0;
	int a1;
	double b1;
	float c1;
	long long d1;
	int a2;
	double b2;
	float c2;
	long long d2;
	int a3;
	double b3;
	float c3;
	long long d3;
	int a4;
	double b4;
	float c4;
	long long d4;
	int a5;
	double b5;
	float c5;
	long long d5;
	int a6;
	double b6;
	float c6;
	long long d6;
	int a7;
	double b7;
	float c7;
	long long d7;
	int a8;
	double b8;
	float c8;
	long long d8;
	int a9;
	double b9;
	float c9;
	long long d9;
	int a10;
	double b10;
	float c10;
	long long d10;
	int a11;
	double b11;
	float c11;
	long long d11;
	int a12;
	double b12;
	float c12;
	long long d12;
	int a13;
	double b13;
	float c13;
	long long d13;
	int a14;
	double b14;
	float c14;
	long long d14;
	int a15;
	double b15;
	float c15;
	long long d15;
} Fields64;

#endif
