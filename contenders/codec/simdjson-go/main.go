// Command simdjson-go is minio/simdjson-go. It indexes a document with vector instructions and returns
// iterators.
package main

import "github.com/tarebench/tare/contender/codec"

// main serves operation fields only: reading a few fields.
func main() { codec.Main(codec.Impl{Fields: findPicker}) }
