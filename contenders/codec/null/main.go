// Command null is the codec that does nothing: what is measured of it is the
// harness.
package main

import "github.com/tarebench/tare/contender/codec"

func main() { codec.Main(codec.Null()) }
