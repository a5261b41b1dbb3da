package check_timed

import (
	"reflect"
	"strings"
	"testing"
)

func BenchmarkBad(b *testing.B) {
	want := []string{"a", "b"}
	for b.Loop() {
		if !reflect.DeepEqual(strings.Split("a,b", ","), want) { // want `reflect.DeepEqual is timed`
			b.Fatal("wrong")
		}
	}
}
