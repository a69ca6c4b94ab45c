# Writes the stacks of a Linux core as gdb unwinds them, for TestNativeFramesAreGDBs:
#
#   sosgo analyze --json CORE -c 'clrstack -all -native -r' > walk.json
#   SOSGO_WALK=walk.json SOSGO_FRAMES=CASE.txt gdb -batch -nx \
#       -iex 'set solib-search-path MODULES' -x frames.py MODULES/PROGRAM CORE
#
# Two modules of one name need a sysroot in place of the search path. gdb must
# find the very libraries of the process, or it guesses.
#
# gdb has no unwind data of managed code. Where it meets a managed frame of
# walk.json it is told the registers of the caller; that caller is marked
# "given", for it is no finding of gdb's. The frames that gdb makes up for
# inlined functions and tail calls are left out: they are no activations.
import json
import os

import gdb
import gdb.unwinder

MASK = 2**64 - 1
REGISTERS = ("rip", "rsp", "rbp", "rbx", "r12", "r13", "r14", "r15")  # that a caller has


def callers(path):
    """The registers of the caller of each managed frame, by IP and SP."""
    threads = {}
    with open(path) as f:
        for frame in json.load(f)["result"]["frames"]:
            if frame["kind"] != "explicit":
                threads.setdefault(frame["osId"], []).append(frame)
    table = {}
    for frames in threads.values():
        for frame, caller in zip(frames, frames[1:]):
            if frame["kind"] == "managed" or "module" not in frame:  # another runtime's
                known = caller["registers"]
                registers = {k: int(known[k], 16) for k in REGISTERS if k in known}
                table[int(frame["ip"], 16), int(frame["sp"], 16)] = registers
    return table


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = gdb.Value(sp), gdb.Value(pc)


class ManagedUnwinder(gdb.unwinder.Unwinder):
    def __init__(self, table):
        super().__init__("managed")
        self.table = table

    def __call__(self, frame):
        ip, sp = register(frame, "rip"), register(frame, "rsp")
        if (ip, sp) not in self.table:
            return None
        info = frame.create_unwind_info(FrameId(sp, ip))
        word = gdb.lookup_type("long")
        for name, value in self.table[ip, sp].items():
            signed = value - 2**64 if value >= 2**63 else value
            info.add_saved_register(name, gdb.Value(signed).cast(word))
        return info


def register(frame, name):
    return int(frame.read_register(name)) & MASK


def main():
    table = callers(os.environ["SOSGO_WALK"])
    gdb.unwinder.register_unwinder(None, ManagedUnwinder(table))
    for setting in ("limit 10000", "past-main on", "past-entry on"):
        gdb.execute("set backtrace " + setting)
    with open(os.environ["SOSGO_FRAMES"], "w") as out:
        out.write("# gdb %s, frames.py: IP, SP, and whether gdb was given the frame\n" % gdb.VERSION)
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.ptid[1]):
            thread.switch()
            out.write("thread %d\n" % thread.ptid[1])
            frame, given = gdb.newest_frame(), False
            while frame is not None:
                if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                    ip, sp = register(frame, "rip"), register(frame, "rsp")
                    out.write("%x %x%s\n" % (ip, sp, " given" if given else ""))
                    given = (ip, sp) in table
                frame = frame.older()


main()
