// Command gjson is tidwall/gjson. It looks up paths without parsing the rest of a document.
package main

import "github.com/tarebench/tare/contender/codec"

// main serves operation fields only: reading a few fields.
func main() { codec.Main(codec.Impl{Fields: findPicker}) }
