// Command simdjson-go is minio/simdjson-go, which indexes a document with
// vector instructions and returns iterators over the result.
package main

import "github.com/tarebench/tare/contender/codec"

// main serves operation fields only, which reads a few fields of a document.
func main() { codec.Main(codec.Impl{Fields: findPicker}) }
