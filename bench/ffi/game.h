/* The structs of the published benchmark, each with a value to copy. */

typedef struct { /* 88 bytes */
	int id;
	char name[64];
	double balance;
	int active; /* a flag */
} SimplePerson;

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

extern SimplePerson person;
extern GameObject object;
