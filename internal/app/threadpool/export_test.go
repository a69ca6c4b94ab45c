package threadpool

// Judge is judge.
var Judge = judge
