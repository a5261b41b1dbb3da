// Command fastjson is valyala/fastjson, which parses a document into a tree from
// which a program reads the values that it needs.
package main

import "github.com/tarebench/tare/contender/codec"

// main serves operation fields only, which reads a few fields of a document.
func main() { codec.Main(codec.Impl{Fields: findPicker}) }
