// Command jsonparser is buger/jsonparser. It finds values by path and returns slices of the document.
package main

import "github.com/tarebench/tare/contender/codec"

// main serves operation fields only: reading a few fields.
func main() { codec.Main(codec.Impl{Fields: findPicker}) }
