// Splits and disturbs the network between the parts of a cluster on one machine. All parts share the loopback interface, and a sender
// has no address of its own there, so each part runs with a group of its own: rules of iptables drop what a group sends to an address.
import { execFileSync } from 'node:child_process'

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

export class Network {
  private readonly chain: string
  private isMade = false

  /** `network` has the first three numbers of all addresses. */
  constructor(
    private readonly network: string,
    private readonly parts: readonly Part[]
  ) {
    this.chain = `chaos-${network}`
  }

  /** Drops everything between one part and others, in both directions. Connections stay open, and nothing arrives. */
  split(one: PartName, others: readonly PartName[]): void {
    this.make()
    for (const other of others) {
      this.drop(one, this.placeOf(other))
      this.drop(other, this.placeOf(one))
    }
  }

  /** Drops a share of what a part sends: the kernel sends it again later, so it arrives late and in bursts. */
  disturb(one: PartName, share: number): void {
    this.make()
    this.drop(
      one,
      ['-d', `${this.network}.0/24`],
      ['-m', 'statistic', '--mode', 'random', '--probability', String(share)]
    )
  }

  /** Lets everything through again. */
  heal(): void {
    if (this.isMade) iptables('-F', this.chain)
  }

  close(): void {
    if (!this.isMade) return
    this.isMade = false
    iptables('-D', 'OUTPUT', '-j', this.chain)
    iptables('-F', this.chain)
    iptables('-X', this.chain)
  }

  private make(): void {
    if (this.isMade) return
    iptables('-N', this.chain)
    iptables('-I', 'OUTPUT', '-j', this.chain)
    this.isMade = true
    // A run that fails must not leave rules behind.
    process.once('exit', () => this.close())
  }

  private placeOf(name: PartName): readonly string[] {
    const part = this.parts.find(each => each.name === name)
    if (!part) throw new Error(`the cluster has no part ${name}`)
    return ['-d', part.address, ...(part.port === undefined ? [] : ['-p', 'tcp', '--dport', String(part.port)])]
  }

  private drop(from: PartName, to: readonly string[], more: readonly string[] = []): void {
    const mark = ['-m', 'owner', '--gid-owner', String(groupOf(from))]
    iptables('-A', this.chain, ...to, ...mark, ...more, '-j', 'DROP')
  }
}

const iptables = (...args: readonly string[]): void =>
  void execFileSync('iptables', ['-w', ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
