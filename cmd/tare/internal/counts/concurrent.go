package counts

import (
	"runtime"
	"sync"
)

// Concurrently calls do with each item, on all processors, and returns after the last call.
func Concurrently[T any](items []T, do func(T)) {
	work := make(chan T)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for item := range work {
				do(item)
			}
		})
	}
	for _, item := range items {
		work <- item
	}
	close(work)
	wait.Wait()
}
