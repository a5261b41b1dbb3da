// Package restored has a test that fills the registry again, and benchmarks that do not use it.
package restored

var byName = map[string]func(string) string{}

func Register(name string, f func(string) string) { byName[name] = f }

func Lookup(name string) func(string) string { return byName[name] }

func Reset() { clear(byName) }
