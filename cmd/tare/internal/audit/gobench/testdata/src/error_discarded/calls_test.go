package error_discarded

import (
	"os"
	"strconv"
	"testing"
)

func ignore(error) {}

func open(name string) error {
	_, err := os.Stat(name)
	return err
}

func remove(name string) { os.Remove(name) } // want `the error of os.Remove is discarded`

func BenchmarkCalls(b *testing.B) {
	cases := []struct {
		name string
		run  func(string) error
	}{
		{"chdir", os.Chdir},
		{"stat", open},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.run(".") // want `the error of c.run, which may be Chdir, is discarded`
			}
		})
	}
}

func BenchmarkForms(b *testing.B) {
	readlink := os.Readlink
	for b.Loop() {
		remove("x")
		ignore(os.Mkdir("x", 0o700))                 // want `the error of os.Mkdir is discarded`
		_, _ = readlink("x")                         // want `the error of readlink, which may be Readlink, is discarded`
		if err := os.Chmod("x", 0o700); err != nil { // want `the error of os.Chmod is discarded`
			continue
		}
	}
}

func BenchmarkChecked(b *testing.B) {
	parse := func(s string) error {
		_, err := strconv.ParseBool(s)
		return err
	}
	if err := parse("true"); err != nil {
		b.Fatal(err)
	}
	never := func() error { return nil }
	for b.Loop() {
		parse("true")
		never()
	}
}
