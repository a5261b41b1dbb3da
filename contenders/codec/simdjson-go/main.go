// Command simdjson-go is minio/simdjson-go, which indexes a document with
// vector instructions and returns iterators over the result.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Impl{Fields: findPicker}) }
