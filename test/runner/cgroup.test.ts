// The delegated group is a folder of ordinary files here, because the machine that runs the tests may have none.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { delegatedGroup, enterGroup } from '../../src/runner/cgroup.js'
import t, { type Test } from '../helpers/tap.js'

function machine(t: Test, { own = '/system.slice/gitstead.service/appliance', controllers = 'cpu memory pids' } = {}) {
  const folder = t.testdir({
    proc: { cgroup: `1:name=systemd:/other\n0::${own}\n` },
    groups: {
      'system.slice': { 'gitstead.service': { 'cgroup.controllers': `${controllers}\n`, 'cgroup.subtree_control': '' } }
    }
  })
  const mount = `25 24 0:22 / ${join(folder, 'groups')} rw,nosuid - cgroup2 cgroup2 rw\n`
  writeFileSync(join(folder, 'proc/mountinfo'), `24 1 0:21 / / rw - ext4 /dev/x rw\n${mount}`)
  return { proc: join(folder, 'proc'), group: join(folder, 'groups/system.slice/gitstead.service') }
}

t.test('a delegated group is found, and its subgroups get limits of memory and processes', async t => {
  const { proc, group } = machine(t)
  t.equal(await delegatedGroup(proc), group)
  t.equal(readFileSync(join(group, 'cgroup.subtree_control'), 'utf8'), '+memory +pids')
})

t.test('other groups are not used', async t => {
  const unnamed = machine(t, { own: '/system.slice/gitstead.service' })
  t.equal(await delegatedGroup(unnamed.proc), undefined)
  t.equal(readFileSync(join(unnamed.group, 'cgroup.subtree_control'), 'utf8'), '')
  t.equal(await delegatedGroup(machine(t, { controllers: 'cpu pids' }).proc), undefined)
  t.equal(await delegatedGroup(machine(t, { own: '/missing/appliance' }).proc), undefined)
  t.equal(await delegatedGroup(t.testdir()), undefined)
})

t.test('a build gets a group with its limits', async t => {
  const { group: parent } = machine(t)
  const group = await enterGroup(parent, 4711, { memory: 1000, processes: 20 })
  const read = (name: string) => readFileSync(join(parent, 'build-4711', name), 'utf8')
  t.same(['memory.max', 'memory.oom.group', 'memory.swap.max', 'pids.max', 'cgroup.procs'].map(read), [
    '1000',
    '1',
    '0',
    '20',
    '4711'
  ])
  writeFileSync(join(parent, 'build-4711/memory.events'), 'low 0\noom 0\noom_kill 0\n')
  t.equal(await group?.ranOut(), false)
  writeFileSync(join(parent, 'build-4711/memory.events'), 'low 0\noom 1\noom_kill 3\n')
  t.equal(await group?.ranOut(), true)
})

t.test('a build runs without a group that cannot be made', async t => {
  const { group } = machine(t)
  t.equal(await enterGroup(join(group, 'missing'), 4711, { memory: 1000, processes: 20 }), undefined)
  t.notOk(existsSync(join(group, 'missing')))
})
