// Command fastjson is valyala/fastjson, which parses a document into a tree from
// which a program reads the values that it needs.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Impl{Fields: findPicker}) }
