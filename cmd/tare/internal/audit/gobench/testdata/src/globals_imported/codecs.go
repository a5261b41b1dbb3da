// Package globals_imported has a registry that packages below it fill when they are imported.
package globals_imported

var byName = map[string]func(string) string{}

func Register(name string, f func(string) string) { byName[name] = f }

func Lookup(name string) func(string) string { return byName[name] }

func Names() int { return len(byName) }

func Reset() { clear(byName) }
