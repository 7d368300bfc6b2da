// The parts of oclif that commands use. The entry point of the package would load 60 more modules at each start.
import * as Args from '@oclif/core/args'
import { Command } from '@oclif/core/command'
import * as Flags from '@oclif/core/flags'

export type { Interfaces } from '@oclif/core'
export { Args, Command, Flags }
