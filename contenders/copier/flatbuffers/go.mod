module github.com/tarebench/tare/contenders/copier/flatbuffers

go 1.25

require github.com/tarebench/tare v0.0.0

require github.com/google/flatbuffers v25.12.19+incompatible

replace github.com/tarebench/tare => ../../..
