// Command jsonparser is buger/jsonparser, which hands out slices of the
// document, found by their path.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Impl{Fields: fields}) }
