// Two machines with homes of their own: the one that has read the source does all further work, whichever gets the requests.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../../helpers/until.js'
import { commandOn, type Machine, startMachine, twoMachines } from '../../../scenarios/two-machines.js'
import { cloneable, serveGithub } from '../github/conversation.js'

t.setTimeout(600_000)

const CONFLICT = 4

const { answers } = await cloneable(t)
const { url } = await serveGithub(t, answers)
const { first, second, ask } = await twoMachines(t, { name: 'migrations', shared: false })
const machines = [
  { machine: first, appliance: await startMachine(first) },
  { machine: second, appliance: await startMachine(second) }
]
t.teardown(() => Promise.all(machines.map(({ appliance }) => appliance.stop())))

interface Shown {
  readonly id: number
  readonly state: string
  readonly error: string | null
}

const hasRead = ({ home }: Machine) => existsSync(join(home, 'migrations/old/projects'))

t.test('the machine that has read the source does the work', async t => {
  const [one, two] = machines as [(typeof machines)[number], (typeof machines)[number]]
  const made = await ask<Shown>(one.appliance, 'POST', '/migrations', {
    ...{ name: 'old', kind: 'github', url: url.origin, token: 'sesame', rate: 1000 }
  })
  t.equal(made.status, 201)
  const path = `/migrations/${made.json.id}`
  const request = async (at: typeof one) =>
    t.equal((await ask(at.appliance, 'POST', `${path}/plan`, { projects: ['crew/tool'] })).status, 202)
  const reaches = (at: typeof one, isThere: (shown: Shown) => boolean) =>
    until('the request gets there', async () => isThere((await ask<Shown>(at.appliance, 'GET', path)).json))
  await request(two)
  await reaches(one, ({ state }) => state === 'succeeded')
  const reader = machines.find(({ machine }) => hasRead(machine)) ?? one
  const other = reader === one ? two : one
  t.notOk(hasRead(other.machine))

  await reader.appliance.stop()
  await request(other)
  await reaches(other, ({ state, error }) => state === 'waiting' && /has what was read/.test(error ?? ''))
  const command = await commandOn(other.machine, ['migrate', 'plan', 'old'])
  t.equal(command.code, CONFLICT)
  t.match(command.stderr, /has what was read of the source: run it there/)
  reader.appliance = await startMachine(reader.machine)
  await reaches(other, ({ state }) => state === 'succeeded')
  t.notOk(hasRead(other.machine), 'the other one has read nothing')

  t.equal((await ask(other.appliance, 'DELETE', path)).status, 200)
  t.equal((await ask(reader.appliance, 'GET', path)).status, 404)
})
