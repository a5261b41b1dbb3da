// Command gjson is tidwall/gjson, which looks up paths in a document without
// parsing the rest of it.
package main

import "github.com/tarebench/tare/contender/codec"

// main serves operation fields only, which reads a few fields of a document.
func main() { codec.Main(codec.Impl{Fields: findPicker}) }
