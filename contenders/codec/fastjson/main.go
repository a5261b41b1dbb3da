// Command fastjson is valyala/fastjson, which parses a document into a tree of
// its own, out of which a program picks what it wants.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Impl{Fields: fields}) }
