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

// shelf keeps books in the first row with room.
type shelf struct{ room []int }

func (s *shelf) put(width int) {
	for i, free := range s.room {
		if free >= width {
			s.room[i] -= width
			return
		}
	}
	s.room = append(s.room, 100-width)
}

// total counts widths, in any order.
type total struct{ widths []int }

func (t *total) add(width int) { t.widths = append(t.widths, width) }

func BenchmarkShelf(b *testing.B) {
	books := map[string]int{"a": 30, "b": 60, "c": 80}
	s, t := &shelf{}, &total{}
	for b.Loop() {
		s.room = s.room[:0]
		for _, width := range books { // want `s gets what is in the map books in another order each time`
			s.put(width)
		}
		t.widths = t.widths[:0]
		for _, width := range books {
			t.add(width)
		}
	}
}
