package copier

import "unsafe"

// RoundTrip returns the copies of T for a codec, which starts from a Go value. trip encodes the value at src
// and decodes the result into dst.
func RoundTrip[T any](trip func(src, dst any) error) Copies {
	return Of(Type[T]{
		Fill: func(dst *T, p unsafe.Pointer) error { return trip((*T)(p), dst) },
		Slice: func(dst []T, p unsafe.Pointer, n int) ([]T, error) {
			src := unsafe.Slice((*T)(p), n)
			result := dst[:0]
			err := trip(&src, &result)
			return result, err
		},
	})
}

// RoundTrips returns [RoundTrip] for all types of this package, by their C names.
func RoundTrips(trip func(src, dst any) error) map[string]Copies {
	return map[string]Copies{
		"BenchPerson": RoundTrip[Person](trip),
		"GameObject":  RoundTrip[GameObject](trip),
		"AudioBuffer": RoundTrip[AudioBuffer](trip),
		"DeviceList":  RoundTrip[DeviceList](trip),
		"Flat2":       RoundTrip[Flat2](trip),
		"Flat16":      RoundTrip[Flat16](trip),
		"Flat128":     RoundTrip[Flat128](trip),
		"Flat1024":    RoundTrip[Flat1024](trip),
		"Flat8192":    RoundTrip[Flat8192](trip),
		"Nest1":       RoundTrip[Nest1](trip),
		"Nest2":       RoundTrip[Nest2](trip),
		"Nest3":       RoundTrip[Nest3](trip),
		"Nest4":       RoundTrip[Nest4](trip),
		"Nest5":       RoundTrip[Nest5](trip),
		"Nest6":       RoundTrip[Nest6](trip),
		"Nest7":       RoundTrip[Nest7](trip),
		"Nest8":       RoundTrip[Nest8](trip),
		"Nest9":       RoundTrip[Nest9](trip),
		"Deep1":       RoundTrip[Deep1](trip),
		"Deep2":       RoundTrip[Deep2](trip),
		"Deep3":       RoundTrip[Deep3](trip),
		"Deep6":       RoundTrip[Deep6](trip),
		"Deep9":       RoundTrip[Deep9](trip),
		"Fields1":     RoundTrip[Fields1](trip),
		"Fields4":     RoundTrip[Fields4](trip),
		"Fields16":    RoundTrip[Fields16](trip),
		"Fields64":    RoundTrip[Fields64](trip),
	}
}
