package error_discarded

import (
	"errors"
	"testing"
)

func TestLimits(t *testing.T) {
	if err := newRing(1).push(1); err != nil {
		t.Fatal(err)
	}
	if err := newAccounts(5).transfer(1, 2, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := newNester(limits{depth: 64}).read(50); err != nil {
		t.Fatal(err)
	}
	if _, err := newNester(limits{}).read(50); !errors.Is(err, errDeep) {
		t.Fatal(err)
	}
	if err := readField([]byte("ts=1")); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkRingPush(b *testing.B) {
	push := newRing(1024).push
	for i := 0; i < b.N; i++ {
		push(i) // want `the error of push is discarded in the loop, although each call of push changes newRing.1024..n`
	}
}

func BenchmarkTransfer(b *testing.B) {
	a := newAccounts(1000)
	for i := 0; i < b.N; i++ {
		a.transfer(1, 2, 3) // want `although each call of transfer changes a.money, which decides whether it fails`
	}
}

// The ring does not fill.
func BenchmarkRingPushPop(b *testing.B) {
	r := newRing(1024)
	for i := 0; i < b.N; i++ {
		r.push(i)
		r.pop()
	}
}

// The second call undoes the first.
func BenchmarkTransferBack(b *testing.B) {
	a := newAccounts(1000)
	for i := 0; i < b.N; i++ {
		a.transfer(1, 2, 3)
		a.transfer(2, 1, 3)
	}
}

var depthSink int

func BenchmarkNester(b *testing.B) {
	n := newNester(limits{})
	for i := 0; i < b.N; i++ {
		depthSink, _ = n.read(i % 50) // want `the error of n.read is discarded in the loop, and a test expects one of what newNester.limits....`
	}
}

func BenchmarkNesterDeep(b *testing.B) {
	n := newNester(limits{depth: 64})
	for i := 0; i < b.N; i++ {
		depthSink, _ = n.read(i % 50)
	}
}

const (
	oldLine = "time=1"
	newLine = "ts=1 a=b"
)

func BenchmarkFields(b *testing.B) {
	for _, c := range []struct{ name, line string }{{"old", oldLine}} {
		b.Run(c.name, func(b *testing.B) {
			line := []byte(c.line)
			for b.Loop() {
				readField(line) // want `no function that checks it reads the constants of its table`
			}
		})
	}
}

func BenchmarkFieldsNew(b *testing.B) {
	for _, c := range []struct{ name, line string }{{"new", newLine}} {
		b.Run(c.name, func(b *testing.B) {
			line := []byte(c.line)
			for b.Loop() {
				readField(line)
			}
		})
	}
}

func TestNewLine(t *testing.T) {
	if err := readField([]byte(newLine)); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkRefuse(b *testing.B) {
	for b.Loop() {
		if err := readField([]byte(oldLine)); !errors.Is(err, errField) {
			b.Fatal(err)
		}
	}
}
