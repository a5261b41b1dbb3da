// Command handwritten encodes only devices, an input of the studies, by appending to a slice. It shows how
// fast an encoder for one type can be.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Impl{Load: loadDevices, Marshal: marshal}) }
