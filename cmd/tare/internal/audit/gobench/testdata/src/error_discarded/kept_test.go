package error_discarded

import (
	"strings"
	"testing"
)

func first[T any](v T, _ error) T { return v }

type keeper struct{ n int }

func (k *keeper) put(n int, isPositive bool, err error) {
	if isPositive {
		k.n = n
	}
}

func value(n int, _ bool, err error) int {
	if err != nil {
		panic(err)
	}
	return n
}

func badText(n int) string { return strings.Repeat("x", n) }

func goodText(n int) string { return strings.Repeat("1", n) }

func TestAll(t *testing.T) {
	if _, err := newTextReader(goodText(9)).all(nil); err != nil {
		t.Fatal(err)
	}
}

var keptSink []byte

func BenchmarkKept(b *testing.B) {
	k := &keeper{}
	bad, good := badText(9), goodText(9)
	for b.Loop() {
		k.put(parsed("x"))                                     // want `the error of parsed`
		keptSink = first(newTextReader(bad).all(keptSink[:0])) // want `no function that checks it reads what badText makes`
		keptSink = first(newTextReader(good).all(keptSink[:0]))
		k.n = value(counted("1"))
	}
}
