import { testAccess } from '../../../access/matrix.js'
import { access as forks } from './forks.access.js'

testAccess([forks])
