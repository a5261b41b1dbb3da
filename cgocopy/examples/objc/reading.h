/* What a sensor said. The struct is C's; the code that fills it is Objective-C. */
typedef struct {
	int id;
	char place[32];
	double celsius;
	_Bool valid;
} Reading;

const Reading *next_reading(void);
