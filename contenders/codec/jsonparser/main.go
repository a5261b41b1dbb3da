// Command jsonparser is buger/jsonparser, which finds values by their path and
// returns them as slices of the document.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Impl{Fields: findPicker}) }
