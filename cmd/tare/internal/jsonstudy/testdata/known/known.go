// Package known has a type with a field for each known difference of a codec.
package known

import "time"

// Document has one of its fields at a time.
type Document struct {
	Wait   *Wait          `json:"wait,omitempty"`
	Ratio  *Ratio         `json:"ratio,omitempty"`
	Labels map[string]int `json:"labels,omitempty"`
	Ports  map[int]string `json:"ports,omitempty"`
	Text   *Text          `json:"text,omitempty"`
	List   *List          `json:"list,omitempty"`
	Hash   *Hash          `json:"hash,omitempty"`
	Pair   *Pair          `json:"pair,omitempty"`
	Empty  *Empty         `json:"empty,omitempty"`
	Zero   *Zero          `json:"zero,omitempty"`
}

type Wait struct {
	Wait time.Duration `json:"wait"`
}

type Ratio struct {
	Ratio float64 `json:"ratio"`
}

type Text struct {
	Text string `json:"text"`
}

type List struct {
	Items []int          `json:"items"`
	Names map[string]int `json:"names"`
}

type Hash struct {
	Sum [4]byte `json:"sum"`
}

type Pair struct {
	Pair [2]int `json:"pair"`
}

type Empty struct {
	N int `json:"n,omitempty"`
}

type Zero struct {
	At time.Time `json:"at,omitzero"`
	N  int       `json:"n"`
}
