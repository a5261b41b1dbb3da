// Command fastjson is valyala/fastjson. It parses a document into a tree from which a program reads values.
package main

import "github.com/tarebench/tare/contender/codec"

// main serves operation fields only: reading a few fields.
func main() { codec.Main(codec.Impl{Fields: findPicker}) }
