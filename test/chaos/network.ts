// Splits and disturbs the network between the parts of a cluster on one machine. All parts share the loopback interface, and a sender
// has no address of its own there, so each part runs with a group of its own. Rules of iptables mark each connection with the group that
// begins it: packets that the kernel sends for a connection which its program has closed have no group.
import { execFileSync } from 'node:child_process'
import { LATE, LatePackets } from './late-packets.js'

/** Groups that no account has. */
const FIRST_GROUP = 61_000

export interface Part {
  readonly name: PartName
  readonly address: string
  /** The port at which the part serves others, when another part has the same address. */
  readonly port?: number
}

/** In the order of their groups. */
const PARTS = ['db1', 'db2', 'db3', 'haproxy', 'bucket', 'app1', 'app2'] as const
export type PartName = (typeof PARTS)[number]

const groupOf = (name: PartName): number => FIRST_GROUP + PARTS.indexOf(name)

/** The options of setpriv that give a part its group. Only root may change it. */
export const asPart = (name: PartName): readonly string[] =>
  process.getuid?.() === 0 ? [`--regid=${groupOf(name)}`, '--clear-groups'] : []

interface Chain {
  readonly table: 'mangle' | 'filter'
  readonly hook: 'OUTPUT' | 'INPUT'
  readonly name: string
}

export class Network {
  /** Connections are marked where they begin. */
  private readonly begins: Chain
  private readonly delays: Chain
  /** Packets are lost on their way: a sender would see that its own are. */
  private readonly losses: Chain
  private readonly late = new LatePackets()
  private isMade = true

  /** `network` has the first three numbers of all addresses. Call it before the parts connect. */
  constructor(
    network: string,
    private readonly parts: readonly Part[]
  ) {
    this.begins = { table: 'mangle', hook: 'OUTPUT', name: `chaos-${network}` }
    this.delays = { table: 'mangle', hook: 'OUTPUT', name: `chaos-${network}-delays` }
    this.losses = { table: 'filter', hook: 'INPUT', name: `chaos-${network}` }
    for (const { table, hook, name } of this.chains()) {
      iptables('-t', table, '-N', name)
      iptables('-t', table, '-A', hook, '-j', name)
    }
    const begins = ['-d', `${network}.0/24`, '-m', 'conntrack', '--ctstate', 'NEW']
    for (const { name } of parts) {
      const mark = String(groupOf(name))
      append(this.begins, [...begins, '-m', 'owner', '--gid-owner', mark, '-j', 'CONNMARK', '--set-mark', mark])
    }
    // A run that fails must not leave rules behind.
    process.once('exit', () => this.close())
  }

  /** Drops everything between one part and others, in both directions. Connections stay open, and nothing arrives. */
  split(one: PartName, others: readonly PartName[]): void {
    for (const other of others) {
      this.drop([...begunBy(one), ...this.to(other)])
      this.drop([...begunBy(other), ...this.to(one)])
    }
  }

  /** Drops a share of what a part sends: the kernel sends it again later, so it arrives late and in bursts. */
  disturb(one: PartName, share: number): void {
    const some = ['-m', 'statistic', '--mode', 'random', '--probability', String(share)]
    for (const sent of this.sentBy(one)) this.drop([...sent, ...some])
  }

  /** Everything that a part sends arrives later, in the same order. */
  async delay(one: PartName): Promise<void> {
    await this.late.open()
    for (const sent of this.sentBy(one)) append(this.delays, [...sent, '-j', 'MARK', '--set-mark', LATE])
  }

  /** Lets everything through again. */
  heal(): void {
    if (!this.isMade) return
    for (const { table, name } of [this.losses, this.delays]) iptables('-t', table, '-F', name)
  }

  close(): void {
    if (!this.isMade) return
    this.isMade = false
    for (const { table, hook, name } of this.chains()) {
      iptables('-t', table, '-D', hook, '-j', name)
      iptables('-t', table, '-F', name)
      iptables('-t', table, '-X', name)
    }
    this.late.close()
  }

  private chains(): readonly Chain[] {
    return [this.begins, this.delays, this.losses]
  }

  /** The packets of a part: those of the connections that it has begun, and its answers in the others. */
  private sentBy(name: PartName): readonly (readonly string[])[] {
    return [
      [...begunBy(name), '-m', 'conntrack', '--ctdir', 'ORIGINAL'],
      [...this.to(name), '-m', 'conntrack', '--ctdir', 'REPLY']
    ]
  }

  /** The connections to a part. */
  private to(name: PartName): readonly string[] {
    const part = this.parts.find(each => each.name === name)
    if (!part) throw new Error(`the cluster has no part ${name}`)
    const port = part.port === undefined ? [] : ['--ctorigdstport', String(part.port)]
    return ['-m', 'conntrack', '--ctorigdst', part.address, ...port]
  }

  private drop(rule: readonly string[]): void {
    append(this.losses, [...rule, '-j', 'DROP'])
  }
}

/** The connections that a part has begun. */
const begunBy = (name: PartName): readonly string[] => ['-m', 'connmark', '--mark', String(groupOf(name))]

const append = ({ table, name }: Chain, rule: readonly string[]): void => iptables('-t', table, '-A', name, ...rule)

const iptables = (...args: readonly string[]): void =>
  void execFileSync('iptables', ['-w', ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
