// Command handwritten encodes only devices (a fixture of the studies), by appending
// JSON to a slice. It shows how fast an encoder for a single type can be.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Impl{Load: loadDevices, Marshal: marshal}) }
