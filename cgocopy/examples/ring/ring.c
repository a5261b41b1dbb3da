#include "ring.h"

#include <pthread.h>
#include <stdlib.h>

struct ring {
	pthread_t writer;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	int slots, first, used, done;
	int64_t total;
	Sample sample[];
};

static void *write_samples(void *arg) {
	ring *r = arg;
	for (int64_t i = 0; i < r->total; i++) {
		pthread_mutex_lock(&r->lock);
		while (r->used == r->slots)
			pthread_cond_wait(&r->emptied, &r->lock);
		int slot = (r->first + r->used) % r->slots;
		pthread_mutex_unlock(&r->lock);
		r->sample[slot] = (Sample){i, i * 0.25, "volt"}; /* nobody else has this slot */
		pthread_mutex_lock(&r->lock);
		r->used++;
		pthread_cond_signal(&r->filled);
		pthread_mutex_unlock(&r->lock);
	}
	pthread_mutex_lock(&r->lock);
	r->done = 1;
	pthread_cond_signal(&r->filled);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

ring *ring_start(int slots, int64_t total) {
	ring *r = calloc(1, sizeof *r + slots * sizeof(Sample));
	if (!r)
		return NULL;
	r->slots = slots;
	r->total = total;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->filled, NULL);
	pthread_cond_init(&r->emptied, NULL);
	if (pthread_create(&r->writer, NULL, write_samples, r)) {
		free(r);
		return NULL;
	}
	return r;
}

int ring_take(ring *r, const Sample **from) {
	pthread_mutex_lock(&r->lock);
	while (r->used == 0 && !r->done)
		pthread_cond_wait(&r->filled, &r->lock);
	int n = r->used;
	if (n > r->slots - r->first) /* up to the end; the rest next time */
		n = r->slots - r->first;
	*from = &r->sample[r->first];
	pthread_mutex_unlock(&r->lock);
	return n;
}

void ring_give(ring *r, int n) {
	pthread_mutex_lock(&r->lock);
	r->first = (r->first + n) % r->slots;
	r->used -= n;
	pthread_cond_signal(&r->emptied);
	pthread_mutex_unlock(&r->lock);
}

void ring_stop(ring *r) {
	pthread_join(r->writer, NULL);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->filled);
	pthread_cond_destroy(&r->emptied);
	free(r);
}
