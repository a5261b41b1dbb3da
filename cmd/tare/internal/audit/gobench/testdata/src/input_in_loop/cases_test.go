package input_in_loop

import (
	"encoding/json"
	"math/rand"
	"testing"
)

type docCase struct {
	name  string
	items int
}

func (c docCase) doc() *Doc {
	d := &Doc{}
	for i := range c.items {
		d.Items = append(d.Items, i)
	}
	return d
}

func (c docCase) text(b *testing.B) []byte {
	data, err := json.Marshal(c.doc())
	if err != nil {
		b.Fatal(err)
	}
	return data
}

var docCases = []docCase{{"small", 10}, {"large", 1000}}

var docSink []byte

func BenchmarkDocByMethod(b *testing.B) {
	for _, c := range docCases {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := ParseDoc(c.text(b)); err != nil { // want `c.text.b. makes the same input again`
					b.Fatal(err)
				}
				docSink = AppendDoc(docSink[:0], c.doc()) // want `c.doc.. makes the same input again`
			}
		})
	}
}

func BenchmarkDocByClosure(b *testing.B) {
	const n = 100
	next := func(i int) *Doc {
		d := &Doc{Items: make([]int, n)}
		for j := range d.Items {
			d.Items[j] = i + j
		}
		return d
	}
	for i := 0; i < b.N; i++ {
		d := next(i % 16) // want `next.i % 16. makes the same input again`
		docSink = AppendDoc(docSink[:0], d)
	}
}

func filled[T any](n int, make func() T) func() []T {
	return func() []T {
		var out []T
		for range n {
			out = append(out, make())
		}
		return out
	}
}

func addUp(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

func Sum(list []int) int { return addUp(list) }

func BenchmarkDocByGeneric(b *testing.B) {
	ones := filled(100, func() int { return 1 })
	total := 0
	for b.Loop() {
		total += Sum(ones())
	}
	_ = total
}

// Makers with a state, cheap ones, values that the tested code changes, and inputs from before the loop.

type docSource struct {
	rng *rand.Rand
	at  int
}

func (s *docSource) doc() *Doc {
	s.at++
	return docCase{items: s.at % 100}.doc()
}

func (s *docSource) random() *Doc { return docCase{items: s.rng.Intn(100)}.doc() }

func BenchmarkDocOther(b *testing.B) {
	s := &docSource{rng: rand.New(rand.NewSource(1))}
	empty := func() []byte { return []byte(`{}`) }
	c := docCases[1]
	data := c.text(b)
	for b.Loop() {
		docSink = AppendDoc(docSink[:0], s.doc())
		docSink = AppendDoc(docSink[:0], s.random()) // want `random-timed`
		if _, err := ParseDoc(empty()); err != nil {
			b.Fatal(err)
		}
		if _, err := ParseDoc(data); err != nil {
			b.Fatal(err)
		}
		SortDoc(c.doc())
	}
}
