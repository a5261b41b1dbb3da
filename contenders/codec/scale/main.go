// Command scale is a codec of known cost, to test tare. Variants spin-K and alloc-K do 100+K equal units per
// operation: spin-5 costs 5 % more than spin-0. Its output is its input.
package main

import "github.com/tarebench/tare/contender/codec"

const baseUnits = 100 // units of spin-0 and alloc-0

func main() {
	impls := map[string]codec.Impl{}
	for name, extra := range map[string]int{"0": 0, "2": 2, "5": 5} {
		impls["spin-"+name] = newImpl(baseUnits+extra, new(worker).spin)
		impls["alloc-"+name] = newImpl(baseUnits+extra, new(worker).alloc)
	}
	codec.Variants(impls)
}

func newImpl(units int, doUnit func()) codec.Impl {
	return codec.Impl{
		Load: loadBody,
		Marshal: func(v any) ([]byte, error) {
			for range units {
				doUnit()
			}
			return v.([]byte), nil
		},
		Shared: true, // the output has the memory of the input
	}
}
