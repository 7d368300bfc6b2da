// Runs test files, each in a process of its own, two at once; writes TAP. The program `tap` does the same with loaders for
// coverage, mocks and TypeScript in each process, which nobody uses here: a second of processor time for every file.
import t from 'tap'

t.jobs = 2
t.setTimeout(0)
for (const file of process.argv.slice(2)) {
  // tap adds one of the loaders to NODE_OPTIONS.
  t.spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps', file], {
    name: file,
    buffered: true
  })
}
