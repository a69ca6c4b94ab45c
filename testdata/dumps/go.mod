// A module of its own, so that programs that import sosgo do not download the
// dumps.
module github.com/sosgo/sosgo/testdata/dumps

go 1.26.0
