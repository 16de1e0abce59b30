<?php

namespace App\Services;

class Stock
{
    /** @var array<string, int> */
    private array $free = [];

    /** Take slabs out of the yard's free count; fail if there are too few. */
    public function reserveSlabs(string $slab, int $quantity): void
    {
        if (($this->free[$slab] ?? 0) < $quantity) {
            throw new \RuntimeException('QRY-207: not enough slabs in the yard');
        }
        $this->free[$slab] -= $quantity;
    }

    public function releaseSlabs(string $slab, int $quantity): void
    {
        $this->free[$slab] = ($this->free[$slab] ?? 0) + $quantity;
    }
}
