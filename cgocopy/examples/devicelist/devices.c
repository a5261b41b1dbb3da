#include "devices.h"

#include <stdlib.h>
#include <string.h>

static int alive;

int list_devices(struct device **list, int *n) {
	static const char *serials[] = {"A-100", "exactly 16 bytes", "C-300"};
	struct device *d = calloc(3, sizeof *d);
	if (!d)
		return 12;
	for (int i = 0; i < 3; i++) {
		memcpy(d[i].serial, serials[i], strlen(serials[i]));
		d[i].gains_count = i;
		d[i].gains = i ? malloc(i * sizeof *d[i].gains) : NULL;
		for (int g = 0; g < i; g++)
			d[i].gains[g] = (i + 1) * 0.5 + g;
	}
	d[0].label = "microphone";
	d[2].label = "line in";
	*list = d;
	*n = 3;
	alive++;
	return 0;
}

void free_devices(struct device *list, int n) {
	for (int i = 0; i < n; i++)
		free(list[i].gains);
	free(list);
	alive--;
}

int lists_alive(void) { return alive; }
