// Command jsonparser is buger/jsonparser, which finds values by their path and
// returns them as slices of the document.
package main

import "github.com/tarebench/tare/contender/codec"

// main serves operation fields only, which reads a few fields of a document.
func main() { codec.Main(codec.Impl{Fields: findPicker}) }
