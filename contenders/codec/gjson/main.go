// Command gjson is tidwall/gjson, which looks up paths in a document without
// parsing the rest of it.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Impl{Fields: findPicker}) }
