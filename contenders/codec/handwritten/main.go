// Command handwritten encodes devices only by appending to a slice. It shows how fast
// an encoder can be that is written for one type.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Impl{Load: loadDevices, Marshal: marshal}) }
