// Command scale is a codec of known cost, for calibration: variant spin-K or
// alloc-K does 100+K equal units of work per operation, so that spin-5 costs
// 5 % more than spin-0. What it returns is the body it was given.
package main

import "github.com/tarebench/tare/contender/codec"

func main() {
	impls := map[string]codec.Impl{}
	for name, extra := range map[string]int{"0": 0, "2": 2, "5": 5} {
		impls["spin-"+name] = impl(100+extra, new(scale).spin)
		impls["alloc-"+name] = impl(100+extra, new(scale).alloc)
	}
	codec.Variants(impls)
}

func impl(units int, unit func()) codec.Impl {
	return codec.Impl{
		Load: load,
		Marshal: func(v any) ([]byte, error) {
			for range units {
				unit()
			}
			return v.([]byte), nil
		},
		Shared: true,
	}
}
