package map_order

import "testing"

// lruCache has room for two numbers.
type lruCache struct{ names [2]string }

func (c *lruCache) length(name string) int {
	if c.names[0] != name {
		c.names[0], c.names[1] = name, c.names[0]
	}
	return len(name)
}

func BenchmarkCache(b *testing.B) {
	prices := map[string]int{"a": 1, "bb": 2, "ccc": 3}
	cache := &lruCache{}
	for b.Loop() {
		for name := range prices { // want `the cache cache is asked in the order of the map prices`
			sink = cache.length(name)
		}
	}
}

func BenchmarkCacheInOrder(b *testing.B) {
	names := []string{"a", "bb", "ccc"}
	cache := &lruCache{}
	for b.Loop() {
		for _, name := range names {
			sink = cache.length(name)
		}
	}
}

// Each key costs the same in any order.
func BenchmarkSum(b *testing.B) {
	prices := map[string]int{"a": 1, "bb": 2, "ccc": 3}
	for b.Loop() {
		for name, price := range prices {
			sink += len(name) * price
		}
	}
}
