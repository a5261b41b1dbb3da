package check_timed

import (
	"reflect"
	"strings"
	"testing"
)

func BenchmarkGood(b *testing.B) {
	want := []string{"a", "b"}
	if !reflect.DeepEqual(strings.Split("a,b", ","), want) {
		b.Fatal("wrong")
	}
	for b.Loop() {
		if len(strings.Split("a,b", ",")) != len(want) {
			b.Fatal("wrong")
		}
	}
}
